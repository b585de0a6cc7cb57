"""Operations whose accesses are checked once for a whole group."""
