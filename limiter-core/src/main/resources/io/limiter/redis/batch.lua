-- batch: decides a list of requests. A request is a list of charges on limits: the script looks at all limits of a request
-- first, then charges all of them, or none. It is put together when its class loads: lines above these define the local given
-- (whether ARGV has a time) and the function algorithm, which returns the functions of an algorithm by its name. They are the
-- parts of the algorithm files between their [algorithm] marks.
--
-- KEYS     the limits' states, request by request; in a cluster each is followed by the hash of its records, if it may have one
--          (hold_records.lua), so that a call fails while only one of them has moved. Keys of several slots of a cluster can't be
--          declared: then it is the first state, and its hash, which find the server, and all of them are in ARGV
-- ARGV     1 now_us ('' = server TIME)
--          2 number of forms; below 0 if names of keys follow: how many, then the names. Then the forms. A form is the number of its limits, then 5 values for each limit: algorithm (as
--          in Algorithm.text(), and '+holds' where ARGV 9 has them, '+holds1' if the hash follows in KEYS), permits, limit, period_us and burst as in the algorithm files. If the number is negative,
--          each limit has 9 values: also ARGV 6 to 9 of the algorithm files.
--          The mode of a form is that of its first limit. Three modes exist only here: 'see' returns whether the request is
--          allowed, with the numbers of a call that takes nothing; 'ask' does the same as the first step of a take; 'reset'
--          deletes the states. In a refund ('back:<stamp_us>') each limit is refunded by itself. What distinguishes reservations
--          ('reserve'), settlements ('settle', ARGV 9 ends with ',settle') and calls in flight follows the request, for each limit in turn
--          A block comes after the limits of its policy, and its options say how many they are ('of=<n>'); it counts a denial
--          when one of these denies.
--          Then for each request: its form (1 is the first), how many times it is asked (not of reservations and settlements), and of
--          each limit: to reserve the id; to settle the id, the end and the actual permits; in flight what concurrent.lua has in
--          ARGV from 10 on. Form and times are left out where there is one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For each request:
--          how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for each time that it was asked
--          until it was denied, because each later time is the same. If an error kept a request from a decision: -1, or -2 if it had
--          begun to write, and the text of that error. For one request that is asked once: its integers, or the error
-- EXPIRES  as in the algorithm files
local number = tonumber
local now = number(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names, skip, at, form_count = KEYS, 0, 3, number(ARGV[2])
if form_count < 0 then names, skip, at, form_count = ARGV, 3, 4 + number(ARGV[3]), -form_count end
local made, changed = {}, false

local function functions_of(name)
  local functions = made[name]
  if not functions then
    functions = {algorithm(name)}
    made[name] = functions
  end
  return functions
end

-- Whether the next key belongs to that limit, too.
local function has_hash(name) return string.byte(name, -1) == 49 end

-- A form: its limits, which begin at that place, how many keys it has, how many values each request of it, whether it reserves or
-- settles, and the mode. Of each limit its functions, permits, limit, period and burst, ARGV 6 to 9 of the algorithm files, how many values
-- distinguish a request, whether these are of a call in flight, whether it has a hash. Returns where the next form begins.
local function parsed(at)
  local count, width = number(ARGV[at]), 5
  local form = {{}, 0, 0, false, ''}
  if count < 0 then count, width = -count, 9 end
  at = at + 1
  for i = 1, count do
    local name, mode, request, values, in_flight = ARGV[at], '', '', 0, false
    if width == 9 then
      mode, request, in_flight = ARGV[at + 6], ARGV[at + 7], ARGV[at] == 'concurrent'
      if in_flight then values = request == 'renew' and 4 or 3 end
      if mode == 'reserve' then values = 1 elseif mode == 'settle' then values = 3 end
      form[4] = form[4] or values > 0 and not in_flight
    end
    form[1][i] = {functions_of(name), number(ARGV[at + 1]), number(ARGV[at + 2]), number(ARGV[at + 3]), number(ARGV[at + 4]),
      width == 9 and ARGV[at + 5] or '', mode, request, width == 9 and ARGV[at + 8] or '', values, in_flight, has_hash(name)}
    form[2], form[3] = form[2] + (has_hash(name) and 2 or 1), form[3] + values
    if i == 1 then form[5] = string.sub(mode, 1, 5) == 'back:' and 'back' or mode == 'settle' and 'back' or mode ~= 'reserve' and mode or '' end
    at = at + width
  end
  return form, at
end

-- Looks at one limit, then at those after it, and charges it when all allow. limits: those of the form; i: which; denied: the nearest
-- limit before it that denies, 0 for none. is_only: there are no others. own: where the values are that distinguish the request.
-- Returns whether all allow.
local function decide(limits, i, mode, key, reply, base, denied, is_only, own)
  local one, name = limits[i], names[skip + key]
  local functions, n, limit, period, burst = one[1], one[2], one[3], one[4], one[5]
  local look, charge, write, settle = functions[1], functions[2], functions[3], functions[4]
  local id, request, options, values, stamp, actual = one[6], one[8], one[9], one[10], nil, nil
  if values > 0 then
    if one[11] then options = own else request = ARGV[own] end
    if mode == 'back' and not one[11] then stamp, actual = ARGV[own + 1] + 0, ARGV[own + 2] + 0 end
    own = own + values
  end
  if mode == 'back' and not stamp then stamp = number(string.sub(one[7], 6)) end
  if denied > 0 and (mode == '' or mode == 'ask') then
    local of = number(string.match(options, 'of=(%d+)') or 0)
    if denied >= i - of then options = options .. ',denied=1' end
  end
  -- With holds one function decides all of it: what it says alone; then, if there are others, what it says and writes with them.
  local call = functions[7]
  local allows, a, b, c, d, e, f = n == 0
  local g, h, o, j, k, l
  local retry, remaining, next_us, reset, used, raw = -1, 0, 0, 0, now, nil
  if mode == 'reset' then
    -- An error: a user who may not, as documented for earlier versions.
    local stays = call and call(functions, 'reset', name, now, n, limit, period, burst, id, 0, request, options)
    if not stays and type(redis.pcall('UNLINK', name)) ~= 'number' then redis.call('DEL', name) end
  elseif limit > 0 then
    if call then
      local step = n == 0 and 'see' or stamp and 'back' or is_only and mode == '' and 'take' or 'see'
      changed = changed or step ~= 'see'
      allows, remaining, retry, next_us, reset, used =
        call(functions, step, name, now, n, limit, period, burst, id, stamp, request, options, actual)
      if allows == nil then call, allows, raw, options = nil, n == 0, remaining, retry end
    end
    if not call then
      a, b, c, d, e, f = look(name, now, n, limit, period, burst, id, request, options, raw)
      if n > 0 then
        g, h, o, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
        allows = g ~= nil
      end
    end
  end
  if not allows then denied = i end
  local all = denied == 0
  if limits[i + 1] then all = decide(limits, i + 1, mode, one[12] and key + 2 or key + 1, reply, base + 6, denied, false, own) end
  if stamp and (not call or n == 0) then allows = false end
  if call and limit > 0 and n > 0 and not stamp and not (is_only and mode == '') then
    local step = all and (mode == '' and 'take' or mode == 'look' and mode) or not all and (mode == '' or mode == 'ask') and 'settle'
    if step then
      changed = changed or step ~= 'look'
      allows, remaining, retry, next_us, reset, used = call(functions, step, name, now, n, limit, period, burst, id, stamp, request, options)
    end
  elseif a and n > 0 then
    changed = changed or mode ~= 'look' and mode ~= 'see'
    if stamp then
      allows, a, b, c, d, e, f =
        functions[5](name, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, request, options)
    elseif all and mode == '' then
      a, b, c, d, e, f = write(name, now, n, limit, period, burst, id, g, h, o, j, k, l, request, options)
    elseif all and mode == 'look' then
      a, b, c, d, e, f = g, h, o, j, k, l
    elseif mode == '' or mode == 'ask' then
      a, b, c, d, e, f = settle(name, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options)
    end
  end
  if a then
    retry, remaining, next_us, reset, used =
      functions[6](name, now, n, limit, period, burst, allows, a, b, c, d, e, f, options)
  end
  reply[base + 1], reply[base + 2], reply[base + 3] = allows and 1 or 0, remaining, (allows or stamp) and 0 or retry
  reply[base + 4], reply[base + 5], reply[base + 6] = next_us, reset, used
  return all
end

-- Appends the numbers of a request to a reply, which has so many already. own: where its values are. Returns how many numbers it has then.
local function ask(form, key, times, reply, size, own)
  local limits = form[1]
  local count = #limits
  repeat
    -- Its numbers are written from the last limit to the first; without these they would not make an array.
    for i = size + 1, size + 6 * count do reply[i] = 0 end
    times, size = times - 1, size + 6 * count
  until not decide(limits, 1, form[5], key, reply, size - 6 * count, 0, count == 1, own) or times == 0
  return size
end

if form_count == 1 and skip == 0 then
  local form, last = parsed(3)
  if #KEYS == form[2] and last + form[3] == #ARGV + 1 then
    local reply = {0, 0, 0, 0, 0, 0}
    ask(form, 1, 1, reply, 0, last)
    return reply
  end
end

-- What most requests are: a take of one limit, without an id. Its state is read once and written once, however often it is asked.
local function take(one, name, times, reply, size)
  local functions, n, limit, period, burst, options = one[1], one[2], one[3], one[4], one[5], one[9]
  local call, charge, answer, granted, raw = functions[7], functions[2], functions[6], 0, nil
  while call and granted < times do
    changed = true
    local allows, remaining, retry, next_us, reset, used = call(functions, 'take', name, now, n, limit, period, burst, '', nil, '', options)
    if allows == nil then
      call, raw, options = nil, remaining, retry
    else
      granted = allows and granted + 1 or times
      reply[size + 1], reply[size + 2], reply[size + 3] = allows and 1 or 0, remaining, allows and 0 or retry
      reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
      size = size + 6
    end
  end
  if call then return size end
  local a, b, c, d, e, f = functions[1](name, now, n, limit, period, burst, '', '', options, raw)
  while granted < times do
    local g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
    if not g then break end
    a, b, c, d, e, f, granted = g, h, i, j, k, l, granted + 1
    if granted < times then
      local _, remaining, next_us, reset, used =
        answer(name, now, n, limit, period, burst, true, a, b, c, d, e, f, options)
      reply[size + 1], reply[size + 2], reply[size + 3] = 1, remaining, 0
      reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
      size = size + 6
    end
  end
  changed = true
  a, b, c, d, e, f = functions[granted > 0 and 3 or 4](
    name, now, n, limit, period, burst, '', a, b, c, d, e, f, '', options)
  local allowed = granted == times
  local retry, remaining, next_us, reset, used =
    answer(name, now, n, limit, period, burst, allowed, a, b, c, d, e, f, options)
  reply[size + 1], reply[size + 2], reply[size + 3] = allowed and 1 or 0, remaining, allowed and 0 or retry
  reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
  return size + 6
end

-- A reservation or settlement of one limit. Its values begin at own. form: with what its options say.
local function hold(form, name, own, reply, size)
  local one, stamp, actual = form[1][1], nil, nil
  local fs, id, n, limit, period, burst = one[1], ARGV[own], one[2], one[3], one[4], one[5]
  if form[3] > 1 then stamp, actual = ARGV[own + 1] + 0, ARGV[own + 2] + 0 end
  changed = true
  local allows, remaining, retry, next_us, reset, used
  if form[7] then
    allows, remaining, retry, next_us, reset, used =
      fs[10](fs, name, now, n, limit, period, burst, id, stamp, actual, form[7], form[8], form[9])
  end
  if allows == nil then
    allows, remaining, retry, next_us, reset, used =
      fs[7](fs, stamp and 'back' or 'take', name, now, n, limit, period, burst, '', stamp, id, one[9], actual, remaining)
    if allows or stamp then retry = 0 end
  end
  reply[size + 1] = allows and 1 or 0
  reply[size + 2] = remaining
  reply[size + 3] = retry
  reply[size + 4] = next_us
  reply[size + 5] = reset
  reply[size + 6] = used
  return size + 6
end

-- The forms by their numbers, as texts; true behind the mode of those of one limit that is taken, reserved or settled, for which there are
-- shorter ways.
local forms = {}
for i = 1, form_count do
  local form
  form, at = parsed(at)
  local one = form[1][1]
  if #form[1] == 1 and one[2] > 0 and one[3] > 0 and (form[4] or one[10] == 0 and one[6] .. one[7] .. one[8] == '') then
    form[6] = true
    if form[4] then
      local base
      base, form[7], form[8], form[9] = one[1][11](one[9], 0)
      if base ~= '' then form[7] = nil end
    end
  end
  forms[tostring(i)] = form
end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form[2] * form[3]
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    if is_listed and not form[4] then times, at = number(ARGV[at]), at + 1 end
    local first, own = key, at
    key, at, changed = key + form[2], at + form[3], false
    reply[size + 1] = 0
    local after
    if not form[6] then
      after = ask(form, first, form[4] and 1 or times, reply, size + 1, own)
    elseif form[4] then
      after = hold(form, names[skip + first], own, reply, size + 1)
    else
      after = take(form[1][1], names[skip + first], times, reply, size + 1)
    end
    reply[size + 1], size = after - size - 1, after
  end
end
repeat
  local ok, failure = pcall(decide_all)
  if not ok then
    -- It ends one request; the others go on.
    for i = #reply, size + 3, -1 do reply[i] = nil end
    reply[size + 1], reply[size + 2] = changed and -2 or -1, type(failure) == 'table' and failure.err or tostring(failure)
    size = size + 2
  end
until ok or not form
return reply
