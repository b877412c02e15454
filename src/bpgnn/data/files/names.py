"""Names by which columns are known, in any case."""

ID_NAMES = ("id", "node", "node_id", "name")
LABEL_NAMES = ("label", "class", "target", "y")
END_NAMES = (("source", "target"), ("from", "to"), ("src", "dst"))
