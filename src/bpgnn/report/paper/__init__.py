"""The sections of the report, one file for each experiment."""
