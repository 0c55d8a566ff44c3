"""Records become a `Document`: what a report says, in which order, before it has a format."""
