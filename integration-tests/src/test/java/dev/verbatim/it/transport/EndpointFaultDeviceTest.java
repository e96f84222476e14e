package dev.verbatim.it.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.verbatim.it.transport.PortControl.StandInFaults;
import dev.verbatim.transport.EndpointBuffer;
import dev.verbatim.transport.EndpointConfig;
import dev.verbatim.transport.EndpointException;
import dev.verbatim.transport.EndpointGroup;
import dev.verbatim.transport.RdmaTransport;
import dev.verbatim.transport.RegistrationException;
import dev.verbatim.transport.WorkOperation;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of endpoints that fail, on demand; after each nothing is left and the next one works. */
class EndpointFaultDeviceTest extends DeviceTest {
  private static final EndpointConfig CONFIG =
      new EndpointConfig().connectTimeout(Duration.ofMillis(500));

  private RdmaTransport near;
  private EndpointGroup nearGroup;
  private EndpointGroup farGroup;

  @BeforeEach
  void openGroups() throws Exception {
    StandInFaults.assumePresent();
    near = open("near");
    nearGroup = near.openGroup(CONFIG);
    farGroup = open("far").openGroup(CONFIG);
  }

  @ParameterizedTest
  @ValueSource(strings = {"alloc_pd", "create_comp_channel", "create_cq"})
  void shouldSayWhichCallFailedWhenAGroupCannotBeOpened(String call) throws Exception {
    StandInFaults.set(call + " errno=ENOMEM nth=1");
    String why = assertThrows(EndpointException.class, () -> near.openGroup(CONFIG)).getMessage();
    assertContains("ibv_" + call, why);
    assertContains("ENOMEM", why);
    near.openGroup(CONFIG);
  }

  @Test
  void shouldSayWhyMemoryCannotBeRegistered() throws Exception {
    StandInFaults.set("reg_mr errno=ENOMEM nth=1");
    assertContains(
        "ENOMEM",
        assertThrows(RegistrationException.class, () -> nearGroup.allocate(4096)).getMessage());
    assertEquals(4096, nearGroup.allocate(4096).length());
  }

  /** Of the connecting and the accepting side alike: both are in this process. */
  @ParameterizedTest
  @CsvSource({
    "resolve_addr errno=EIO nth=1, EIO",
    "resolve_route errno=EIO nth=1, EIO",
    "connect errno=EIO nth=1, EIO",
    "accept errno=EIO nth=1, REJECTED",
    "create_qp errno=ENOMEM nth=1 every=1 count=2, ENOMEM",
    "cm reject, REJECTED",
    "cm silent, no answer within 500 ms",
    "cm unreachable, UNREACHABLE",
    "cm addr_error, ADDR_ERROR",
    "cm route_error, ROUTE_ERROR",
  })
  void shouldSayWhyItCannotConnect(String fault, String reason) throws Exception {
    StandInFaults.set(fault);
    EndpointRecorder says = new EndpointRecorder();
    var address = farGroup.listen(0, request -> request.accept(new EndpointRecorder()));
    ExecutionException refused =
        assertThrows(
            ExecutionException.class,
            () -> nearGroup.connect(address, new byte[0], says).get(60, TimeUnit.SECONDS));
    assertContains(reason, refused.getMessage());
    assertContains(address.toString(), refused.getMessage());
    says.closed();
    says.nothingMore();
    StandInFaults.set("");
    nearGroup.connect(address, new byte[0], says).get(60, TimeUnit.SECONDS);
  }

  /** A device may have no room for inline data, which only trying tells. */
  @Test
  void shouldDoWithoutInlineDataWhenTheDeviceHasNone() throws Exception {
    StandInFaults.set("create_qp errno=EINVAL nth=1");
    EndpointBuffer own = nearGroup.allocate(8);
    EndpointPair pair =
        EndpointPair.connect(nearGroup, farGroup, far -> EndpointPair.receive(far, 1));
    assertEquals(0, pair.near().limits().inlineBytes());
    assertTrue(pair.far().limits().inlineBytes() > 0);
    pair.near().sendWithImmediate(2, 3);
    pair.farSays().succeeded(1, WorkOperation.RECEIVE);
    pair.far().receive(4, farGroup.allocate(8).all());
    pair.near().send(5, own.all());
    pair.farSays().succeeded(4, WorkOperation.RECEIVE);
  }

  @Test
  void shouldForgetARequestThatTheDeviceRefuses() throws Exception {
    EndpointBuffer own = nearGroup.allocate(8);
    EndpointBuffer room = farGroup.allocate(8);
    EndpointPair pair =
        EndpointPair.connect(nearGroup, farGroup, far -> EndpointPair.receive(far, 1, room.all()));
    StandInFaults.set("post_send errno=ENOMEM nth=1");
    assertContains(
        "ibv_post_send",
        assertThrows(EndpointException.class, () -> pair.near().send(2, own.all())).getMessage());
    assertEquals(0, pair.near().sendsUnderWay());
    pair.near().send(3, own.all());
    pair.nearSays().succeeded(3, WorkOperation.SEND);
    pair.farSays().succeeded(1, WorkOperation.RECEIVE);
  }

  @Test
  void shouldEndEverythingWhenTheDeviceFails() throws Exception {
    EndpointPair pair = EndpointPair.connect(nearGroup, farGroup);
    StandInFaults.set("device_fatal");
    pair.nearSays().closed();
    pair.farSays().closed();
    Transports.await("it knows", () -> near.deviceFailure().isPresent());
  }
}
