"""Airtime fairness of Wi-Fi: Høiland-Jørgensen and others. `aqmlab_papers` describes the files."""
