"""One page that shows the whole reproduction."""
