-- The floor for sliding_list.lua: takes, and nothing else. No check of arguments or state, no guard against clocks or changed limits.
-- KEYS[1] the state  ARGV 1 permits  2 limit  3 period_us  4 burst
local n, limit, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local head = redis.call('LINDEX', key, 0)
while head and head + period <= now do
  redis.call('LPOP', key)
  head = redis.call('LINDEX', key, 0)
end
local len = redis.call('LLEN', key)
if len + n > limit then
  local retry = redis.call('LINDEX', key, len + n - limit - 1) + period - now
  return {0, limit - len, retry, head + period - now, redis.call('LINDEX', key, -1) + period - now, now}
end
for i = 1, n do redis.call('RPUSH', key, now) end
redis.call('PEXPIRE', key, math.ceil(period / 1000))
return {1, limit - len - n, 0, (head or now) + period - now, period, now}
