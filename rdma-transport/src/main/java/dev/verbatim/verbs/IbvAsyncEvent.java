package dev.verbatim.verbs;

/** An asynchronous event, {@code ibv_get_async_event(3)}. */
public final class IbvAsyncEvent {
  public static final CStruct STRUCT =
      CStruct.of(
          "ibv_async_event",
          CTypes.struct(
              "element",
              CStruct.union(
                  "element", CTypes.pointer("cq"), CTypes.pointer("qp"), CTypes.i32("port_num"))),
          CTypes.i32("event_type"));

  /** A number of {@link AsyncEventType}, whose scope tells which element is valid. */
  public static final IntField EVENT_TYPE = STRUCT.intField("event_type");

  public static final PointerField ELEMENT_CQ = STRUCT.pointerField("element.cq");
  public static final PointerField ELEMENT_QP = STRUCT.pointerField("element.qp");
  public static final IntField ELEMENT_PORT_NUM = STRUCT.intField("element.port_num");

  private IbvAsyncEvent() {}
}
