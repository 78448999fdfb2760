-- The floor for fixed_window.lua: takes, and nothing else. No check of arguments or state, no guard against clocks or changed limits.
-- KEYS[1] the state  ARGV 1 permits  2 limit  3 period_us  4 burst
local n, limit, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local count, ends = 0, now + period
local open = redis.call('GET', KEYS[1])
if open then
  count, ends = struct.unpack('<dd', open)
  if ends <= now then
    count, ends, open = 0, now + period, false
  end
end
local left = ends - now
if count + n > limit then return {0, limit - count, left, left, left, ends} end
count = count + n
if open then
  redis.call('SET', KEYS[1], struct.pack('<dd', count, ends), 'KEEPTTL')
else
  redis.call('SET', KEYS[1], struct.pack('<dd', count, ends), 'PX', math.ceil(left / 1000))
end
return {1, limit - count, 0, left, left, ends}
