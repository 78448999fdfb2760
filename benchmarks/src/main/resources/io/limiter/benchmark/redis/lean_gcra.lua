-- A token bucket as one time (GCRA), as lean as it gets: what a peer's limiter without our promises costs Redis.
-- KEYS[1] the state  ARGV 1 permits  2 limit  3 period_us  4 burst
local n, limit, period, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local each = period / limit
local due = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local next_due = due + n * each
local free = now + burst * each - next_due
if free < 0 then
  return {0, math.floor((now + burst * each - due) / each), math.ceil(-free), math.ceil(-free), math.ceil(due - now), now}
end
redis.call('SET', KEYS[1], next_due, 'PX', math.ceil((next_due - now) / 1000))
return {1, math.floor(free / each), 0, math.ceil(each), math.ceil(next_due - now), now}
