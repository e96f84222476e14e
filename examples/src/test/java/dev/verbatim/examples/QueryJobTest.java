package dev.verbatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class QueryJobTest {
  @Test
  void shouldDropOnlyTheOutermostLimitWhenTheWholeResultIsCompared() {
    assertEquals(
        "SELECT * FROM (SELECT 1 LIMIT 5) ORDER BY 1",
        QueryJob.withoutLastLimit("SELECT * FROM (SELECT 1 LIMIT 5) ORDER BY 1\nLIMIT 100\n"));
    assertEquals("SELECT 1", QueryJob.withoutLastLimit("SELECT 1 limit 100 ;"));
    assertEquals(
        "SELECT (SELECT 1 LIMIT 1)", QueryJob.withoutLastLimit("SELECT (SELECT 1 LIMIT 1)"));
  }
}
