"""A live system as people read it: the page of the server, and reports of a day, a week or a month."""
