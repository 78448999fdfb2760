-- The floor for sliding_zset.lua: takes, and nothing else. No check of arguments or state, no guard against clocks or changed limits.
-- KEYS[1] the state  ARGV 1 permits  2 limit  3 period_us  4 burst
local n, limit, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', key, 0, now - period)
local len = redis.call('ZCARD', key)
local function left(i)
  return redis.call('ZRANGE', key, i, i, 'WITHSCORES')[2] + period - now
end
if len + n > limit then return {0, limit - len, left(len + n - limit - 1), left(0), left(-1), now} end
for i = 1, n do redis.call('ZADD', key, now, time[1] .. time[2] .. '-' .. len + i) end
redis.call('PEXPIRE', key, math.ceil(period / 1000))
return {1, limit - len - n, 0, left(0), period, now}
