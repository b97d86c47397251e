"""Faults that are put into a copy of a store on purpose, and the checks that must catch each at its own stage."""
