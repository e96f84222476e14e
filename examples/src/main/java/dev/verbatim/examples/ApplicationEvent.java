package dev.verbatim.examples;

/**
 * What an application tells {@link CompareShuffles} as it goes, one JSON object in each line of its
 * standard output. One member is there, the others are null.
 *
 * @param started name of a job
 * @param ended a job
 * @param facts once executors are up, and again when all jobs have ended
 */
record ApplicationEvent(String started, JobReport ended, SparkFacts facts) {
  static ApplicationEvent started(String job) {
    return new ApplicationEvent(job, null, null);
  }

  static ApplicationEvent ended(JobReport job) {
    return new ApplicationEvent(null, job, null);
  }

  static ApplicationEvent facts(SparkFacts facts) {
    return new ApplicationEvent(null, null, facts);
  }
}
