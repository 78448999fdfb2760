-- Writes the report of an instance, unless it has none to write. Returns the time of Redis. KEYS: reports. ARGV: the
-- instance, and its report, before which it writes the time in seconds. A new instance has those forgotten that have
-- not reported for five minutes.
local t = redis.call('TIME')
if #ARGV > 0 and redis.call('HSET', KEYS[1], ARGV[1], t[1] .. '\t' .. ARGV[2]) == 1 then
  redis.call('PEXPIRE', KEYS[1], 604800000)
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if (tonumber(all[i + 1]:match('^%d+')) or 0) < t[1] - 300 then redis.call('HDEL', KEYS[1], all[i]) end
  end
end
return {t[1], t[2]}
