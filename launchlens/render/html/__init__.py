"""The HTML report: one file that opens offline."""
