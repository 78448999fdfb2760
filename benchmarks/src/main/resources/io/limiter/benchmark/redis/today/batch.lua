-- batch: decides a list of requests, each a list of charges on limits: all limits of a request are looked at once, then
-- all are charged, or none. Assembled when its class loads: before these lines stand, for each algorithm file, the part
-- between its [algorithm] marks and a line that puts it into algorithms under its name.
--
-- KEYS     the limits' states, request by request
-- ARGV     1 now_us ('' = server TIME), then for each request: the number of its limits, and for each limit 7 values:
--          algorithm (as in Algorithm.text()), then permits, limit, period_us, burst, request id and mode as in the
--          algorithm files. The mode of a request's first limit is that of the request; there are two more: 'see' says
--          whether it is allowed, with the numbers of a call that takes nothing, and 'ask' the same as the beginning of
--          a take. A refund ('back:<stamp_us>') stands for itself at each limit
-- RETURNS  for each request: 6 integers for each of its limits, as in the algorithm files; or {text} with the error
--          that kept this request, and no other, from a decision
-- EXPIRES  as in the algorithm files
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function look(s)
  if s.limit == 0 then
    s.allowed = s.n == 0
  else
    s.algorithm.look(s)
  end
  return s.allowed
end

local function decide(states, mode)
  local allowed = true
  for _, s in ipairs(states) do
    if not look(s) then allowed = false end
  end
  for _, s in ipairs(states) do
    s.refund = tonumber(string.match(s.mode, '^back:(%d+)$') or '')
    if s.refund then
      s.allowed = s.limit > 0 and s.n > 0 and s.algorithm.back(s, s.refund)
    elseif allowed and s.n > 0 and mode ~= 'see' and mode ~= 'ask' then
      s.algorithm.charge(s)
      if mode == '' then s.algorithm.write(s) end
    elseif (mode == '' or mode == 'ask') and s.limit > 0 and s.n > 0 then
      s.algorithm.settle(s)
    end
  end
  local reply, size = {}, 0
  for _, s in ipairs(states) do
    local retry, remaining, next_us, reset, stamp = -1, 0, 0, 0, now
    if s.limit > 0 then retry, remaining, next_us, reset, stamp = s.algorithm.state(s) end
    reply[size + 1], reply[size + 2] = s.allowed and 1 or 0, remaining
    reply[size + 3] = (s.allowed or s.refund) and 0 or retry
    reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, stamp
    size = size + 6
  end
  return reply
end

local replies, key, arg = {}, 0, 2
while ARGV[arg] do
  local states = {}
  for i = 1, tonumber(ARGV[arg]) do
    local at = arg + i * 7 - 6
    key = key + 1
    states[i] = {algorithm = algorithms[ARGV[at]], key = KEYS[key], now = now, n = tonumber(ARGV[at + 1]),
      limit = tonumber(ARGV[at + 2]), period = tonumber(ARGV[at + 3]), burst = tonumber(ARGV[at + 4]),
      id = ARGV[at + 5], mode = ARGV[at + 6]}
  end
  arg = arg + 1 + 7 * #states
  local ok, reply = pcall(decide, states, states[1].mode)
  replies[#replies + 1] = ok and reply or {type(reply) == 'table' and reply.err or tostring(reply)}
end
return replies
