"""Makes tests/ importable, for records that several test folders build by hand."""
