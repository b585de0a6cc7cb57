"""`warplab play`: an editor for PTX and CUDA C++ in the browser, with runs, checkers, the player and labs.

`server.py` answers the page; programs run in the processes of `worker.py`, with limits.
"""
