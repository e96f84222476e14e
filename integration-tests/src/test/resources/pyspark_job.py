"""A shuffle of Python's own objects, and one of rows with values that Python computes.

Writes what they return into the file that is named, and how the blocks came where the driver has
Verbatim.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import LongType

RECORDS = 20_000
MAPS = 6


def summary(texts):
    ordered = sorted(texts)
    return len(ordered), ordered[0], ordered[-1], sum(map(len, ordered))


session = SparkSession.builder.getOrCreate()
context = session.sparkContext

groups = (
    context.parallelize(range(RECORDS), MAPS)
    .map(lambda number: (number % 97, str(number) * 3))
    .groupByKey(5)
    .mapValues(summary)
    .collect()
)
residue = udf(lambda number: number * number % 1009, LongType())
rows = (
    session.range(0, RECORDS, 1, MAPS)
    .withColumn("residue", residue("id"))
    .repartition(4, "residue")
    .withColumn("again", residue("residue"))
    .groupBy("again")
    .count()
    .collect()
)
jvm = context._jvm
manager = context.getConf().get("spark.shuffle.manager")
session.stop()

with open(sys.argv[1], "w", encoding="utf-8") as output:
    for key, value in groups:
        print("group", key, *value, file=output)
    for row in rows:
        print("row", row["again"], row["count"], file=output)
    if manager.startswith("dev.verbatim."):
        report = jvm.dev.verbatim.shuffle.RdmaShuffleManager.report()
        print("RDMA", report.bytesByRdma(), file=output)
        print("TCP", report.bytesByTcp(), file=output)
