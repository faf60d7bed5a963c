"""What a release has beside its code: the manual, the licences and the list of all that is in it."""
