"""What an audit found, for people: sentences, pages, and files to hand on."""
