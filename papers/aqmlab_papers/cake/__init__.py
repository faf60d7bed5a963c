"""CAKE, the queue management of home gateways. `aqmlab_papers` describes the files."""
