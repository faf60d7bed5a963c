"""The playground: a page in which queues react while one moves a slider. The engine is inside the page.

`make setup` builds the page and the widget, and puts both in this folder.
"""
