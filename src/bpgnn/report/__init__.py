"""What came out beside what the paper prints: tables, figures, one page."""
