-- Writes the report of an instance, unless it has none to write. Returns the time of Redis. KEYS: reports, policies.
-- ARGV: the instance, its report, before which it writes the time in seconds, then names and limits of policies where
-- they are new: then it forgets instances that have not reported for a day.
local t = redis.call('TIME')
if #ARGV > 0 then redis.call('HSET', KEYS[1], ARGV[1], t[1] .. '\t' .. ARGV[2]) end
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
if #ARGV > 2 then
  redis.call('PEXPIRE', KEYS[1], 604800000)
  redis.call('PEXPIRE', KEYS[2], 604800000)
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if (tonumber(all[i + 1]:match('^%d+')) or 0) < t[1] - 86400 then redis.call('HDEL', KEYS[1], all[i]) end
  end
end
return {t[1], t[2]}
