"""Questions and answers: what they are, when two are the same or clash, how well one fits, how far it is believed."""
