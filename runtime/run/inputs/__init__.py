"""What a run is given: values, named arrays, textures, tensor maps, arguments."""
