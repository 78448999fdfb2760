package io.limiter.redis;
import io.limiter.Algorithm;
import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.*;
class TmpBenchTest {
  @Test void bench() throws Exception {
    String old = new String(TmpBenchTest.class.getResourceAsStream("allotment-chain.lua").readAllBytes(), StandardCharsets.UTF_8);
    String neu = System.getProperty("lua") == null ? Script.alone(Algorithm.ALLOTMENT).text() : java.nio.file.Files.readString(java.nio.file.Path.of(System.getProperty("lua")));
    Map<String, Double> best = new TreeMap<>();
    try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
      for (int round = 0; round < 3; round++)
      for (String[] what : new String[][] {{"old", old}, {"new", neu}}) {
        String sha = redis.scriptLoad(what[1]);
        redis.del("b"); redis.del("b2");
        for (String phase : new String[] {"buy", "buynohold", "deny", "look", "repeat", "confirm"}) {
          for (int chunk = 0; chunk < 50; chunk++) {
          redis.configResetStat();
          Pipeline p = redis.pipelined();
          List<Response<Object>> rs = new ArrayList<>();
          for (int j = 0; j < 100; j++) {
            int i = chunk * 100 + j;
            long now = 1_800_000_000_000_000L + i * 1000L;
            List<String> a = new ArrayList<>(List.of("1", "5000", "900000000", "1", ""+now, "user"+i, "", "order-"+i, "opens=0,closes=2700000000000000"));
            String key = "b";
            if (phase.equals("buynohold")) { a.set(2, "0"); key = "b2"; }
            if (phase.equals("deny")) { a.set(4, "1800000020000000"); a.set(5, "x"+i);}
            if (phase.equals("look")) { a.set(4, "1800000020000000"); a.set(5, "x"+i); a.set(6, "look");}
            if (phase.equals("confirm")) { a.set(4, "1800000020000000"); a.set(6, "back:"+now); a.set(7, ""); a.set(8, a.get(8)+",keep");}
            rs.add(p.evalsha(sha, List.of(key), a));
          }
          p.sync();
          String stats = redis.info("commandstats").replaceAll("(?s).*cmdstat_evalsha:calls=100,usec=(\\d+).*", "$1");
          best.merge(phase + " " + what[0], Double.parseDouble(stats) / 100, Math::min);
          }
        }
      }
    }
    best.forEach((k, v) -> System.out.printf("%s %.1f%n", k, v));
  }
}
