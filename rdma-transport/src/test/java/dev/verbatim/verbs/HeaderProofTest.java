package dev.verbatim.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares every struct, field, constant and enumeration of the package with the real headers. What
 * is compared is found by reflection over the package's classes, so that nothing can be forgotten.
 */
class HeaderProofTest {
  private static final String SKIP = "verbatim.skipHeaderProof";

  @TempDir Path directory;

  @BeforeAll
  static void skipWhenTold() {
    assumeFalse(Boolean.getBoolean(SKIP), "-D" + SKIP + " is set");
  }

  @Test
  void shouldAgreeWithHeadersWhenStructsAreLaidOut() throws Exception {
    Map<String, Long> java = new LinkedHashMap<>();
    List<CStruct> structs = structs();
    for (CStruct struct : structs) {
      addSize(java, struct);
      addMembers(java, struct, struct.layout(), "", 0);
    }
    assertTrue(structs.size() >= 30, "only " + structs.size() + " structs found");
    assertTrue(java.size() >= 300, "only " + java.size() + " members found");
    assertAgree(java);
  }

  @Test
  void shouldAgreeWithHeadersWhenFieldsAreRead() throws Exception {
    // The layouts are proven above; this proves that each field names the member it reads.
    int fields = 0;
    for (Class<?> type : classes()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) && field.getType().isRecord()) {
          CStruct struct = (CStruct) type.getField("STRUCT").get(null);
          field.setAccessible(true);
          Object accessor = field.get(null);
          long offset = (long) accessor.getClass().getMethod("offset").invoke(accessor);
          long stride = (long) accessor.getClass().getMethod("stride").invoke(accessor);
          if (stride == IbvPortAttr.ROOM && type == IbvPortAttr.class) {
            continue;
          }
          assertEquals(struct.size(), stride, type.getSimpleName() + "." + field.getName());
          assertTrue(
              memberAt(struct.layout(), offset, field.getName()),
              type.getSimpleName() + "." + field.getName() + " is not at " + offset);
          fields++;
        }
      }
    }
    assertTrue(fields > 150, "only " + fields + " fields found");
  }

  @Test
  void shouldAgreeWithHeadersWhenConstantsAreNamed() throws Exception {
    Map<String, Long> java = new LinkedHashMap<>();
    for (Class<?> type : List.of(VerbsConstants.class, PosixConstants.class, Errno.class)) {
      for (Field field : type.getFields()) {
        String name = field.getName().replaceFirst("^SC_", "_SC_");
        java.put(name, ((Number) field.get(null)).longValue());
      }
    }
    for (Class<?> type : classes()) {
      if (type.isEnum() && NativeEnum.class.isAssignableFrom(type)) {
        for (Object constant : type.getEnumConstants()) {
          NativeEnum nativeEnum = (NativeEnum) constant;
          if (nativeEnum.number() != NativeEnum.UNKNOWN_NUMBER) {
            java.put(nativeEnum.cName(), (long) nativeEnum.number());
          }
        }
      }
    }
    assertTrue(java.size() >= 190, "only " + java.size() + " constants found");
    assertAgree(java);
  }

  @Test
  void shouldAgreeWithHeadersWhenSystemCallsAreNumbered() throws Exception {
    Syscalls numbers = Syscalls.ofThisHost();
    assertAgree(Map.of("SYS_mbind", numbers.mbind, "SYS_get_mempolicy", numbers.getMempolicy));
    // Those of the other architectures are in a header of their own.
    List<String> lines = Files.readAllLines(Path.of("/usr/include/asm-generic/unistd.h"));
    assertTrue(lines.contains("#define __NR_mbind " + Syscalls.GENERIC.mbind));
    assertTrue(lines.contains("#define __NR_get_mempolicy " + Syscalls.GENERIC.getMempolicy));
  }

  @Test
  void shouldAgreeWithHeadersWhenSurroundingContextIsUsed() throws Exception {
    assertAgree(
        Map.of(
            "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, query_port)",
            VerbsContext.QUERY_PORT_DISTANCE,
            "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, sz)",
            VerbsContext.SZ_DISTANCE));
  }

  @Test
  void shouldAgreeWithHeadersWhenTheyHaveExtendedSpeed() throws Exception {
    String expression = "offsetof(struct ibv_port_attr, active_speed_ex)";
    assumeFalse(
        !new CProgram(directory).compiles(expression), "headers older than active_speed_ex");
    assertAgree(Map.of(expression, IbvPortAttr.ACTIVE_SPEED_EX.offset()));
  }

  @Test
  void shouldNameTheMemberWhenLayoutDisagrees() throws Exception {
    CStruct swapped =
        CStruct.of("ibv_sge", CTypes.i64("addr"), CTypes.i32("lkey"), CTypes.i32("length"));
    CStruct shorter = CStruct.of("ibv_mr", CTypes.pointer("context"), CTypes.pointer("pd"));
    Map<String, Long> java = new LinkedHashMap<>();
    addMembers(java, swapped, swapped.layout(), "", 0);
    java.put("sizeof(struct ibv_mr)", shorter.size());
    java.put("IBV_WC_RETRY_EXC_ERR", 13L);

    assertEquals(
        List.of(
            "offsetof(struct ibv_sge, lkey) is 12 in C, 8 in Java",
            "offsetof(struct ibv_sge, length) is 8 in C, 12 in Java",
            "sizeof(struct ibv_mr) is 48 in C, 16 in Java",
            "IBV_WC_RETRY_EXC_ERR is 12 in C, 13 in Java"),
        disagreements(java));
  }

  private void assertAgree(Map<String, Long> java) throws Exception {
    List<String> wrong = disagreements(java);
    assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
  }

  private List<String> disagreements(Map<String, Long> java) throws Exception {
    CProgram program = new CProgram(directory);
    java.keySet().forEach(program::add);
    List<String> wrong = new ArrayList<>();
    program
        .run()
        .forEach(
            (expression, c) -> {
              if (!c.equals(java.get(expression))) {
                wrong.add(expression + " is " + c + " in C, " + java.get(expression) + " in Java");
              }
            });
    return wrong;
  }

  /** Size of a struct; of the one that has grown, that it has room. */
  private static void addSize(Map<String, Long> java, CStruct struct) {
    String size = "sizeof(" + struct.cName() + ")";
    if (struct == IbvPortAttr.STRUCT) {
      java.put(size + " >= " + struct.size() + " && " + size + " <= " + IbvPortAttr.ROOM, 1L);
    } else {
      java.put(size, struct.size());
    }
  }

  /** Offset and size of each member, and of the members of members. */
  private static void addMembers(
      Map<String, Long> java, CStruct struct, GroupLayout group, String prefix, long base) {
    for (MemoryLayout member : group.memberLayouts()) {
      if (member.name().isEmpty()) {
        continue;
      }
      String path = prefix + member.name().get();
      long offset = base + group.byteOffset(PathElement.groupElement(member.name().get()));
      java.put("offsetof(" + struct.cName() + ", " + path + ")", offset);
      java.put("sizeof(((" + struct.cName() + " *)0)->" + path + ")", member.byteSize());
      if (member instanceof GroupLayout nested) {
        addMembers(java, struct, nested, path + ".", offset);
      }
    }
  }

  /** Whether a member whose name ends the field's name lies at an offset. */
  private static boolean memberAt(GroupLayout group, long offset, String field) {
    for (MemoryLayout member : group.memberLayouts()) {
      if (member.name().isEmpty()) {
        continue;
      }
      String name = member.name().get();
      long start = group.byteOffset(PathElement.groupElement(name));
      String alias =
          switch (field) {
            case "LOCAL_ADDR" -> "src_storage";
            case "PEER_ADDR" -> "dst_storage";
            default -> field;
          };
      if (start == offset && alias.toLowerCase().endsWith(name.toLowerCase())) {
        return true;
      }
      if (member instanceof GroupLayout nested && memberAt(nested, offset - start, field)) {
        return true;
      }
    }
    return false;
  }

  private static List<CStruct> structs() throws Exception {
    List<CStruct> structs = new ArrayList<>();
    for (Class<?> type : classes()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) && field.getType() == CStruct.class) {
          structs.add((CStruct) field.get(null));
        }
      }
    }
    return structs;
  }

  private static List<Class<?>> classes() throws Exception {
    URI location = CStruct.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    Path folder = Path.of(location).resolve("dev/verbatim/verbs");
    try (Stream<Path> files = Files.list(folder)) {
      List<Class<?>> classes = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.startsWith("package-info")) {
          classes.add(Class.forName("dev.verbatim.verbs." + name.replace(".class", "")));
        }
      }
      return classes;
    } catch (IOException e) {
      throw new AssertionError("no classes at " + folder, e);
    }
  }
}
