"""The parts of ``LedgerSuite``, one file a family of rules."""
