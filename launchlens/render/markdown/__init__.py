"""Documents as GitHub Markdown, and the comment under a pull request."""
