"""What ships: scenarios by topic, and a folder for each paper, whose `paper.py` says what is run, drawn and claimed."""
