"""Records a launch whole: the observer, and the track that it leaves."""
