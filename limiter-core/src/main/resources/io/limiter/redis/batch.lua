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
--          each limit: to reserve the id; to settle the id, the end and the actual permits, in hexadecimal digits, which take less time to read; in flight what concurrent.lua has in
--          ARGV from 10 on. Form and times are left out where there is one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For each request:
--          how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for each time that it was asked
--          until it was denied, because each later time is the same. If an error kept a request from a decision: -1, or -2 if it had
--          begun to write, and the text of that error. For one request that is asked once: its integers, or the error. Of several
--          requests, for a settlement of one limit only the last integer
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
local command, pack, read, byte = redis.call, struct.pack, struct.unpack, string.byte

local function functions_of(name)
  local functions = made[name]
  if not functions then
    functions = {algorithm(name)}
    made[name] = functions
  end
  return functions
end

-- Whether a limit is asked for permits, by calls that nothing distinguishes.
local function is_plain(one) return one[2] > 0 and one[3] > 0 and one[10] == 0 and one[6] .. one[7] .. one[8] == '' end

-- A form: its limits, which begin at that place, how many keys it has, how many values each request of it, whether it reserves or
-- settles, the mode, and which function below decides it, if there is a short one; then what the options of a hold say. Of each limit its functions, permits, limit, period and burst, ARGV 6 to 9 of the algorithm files, how many values
-- distinguish a request, whether these are of a call in flight, whether it has a hash. Returns where the next form begins.
local function parsed(at)
  local count, width = number(ARGV[at]), 5
  local form = {{}, 0, 0, false, ''}
  if count < 0 then count, width = -count, 9 end
  at = at + 1
  for i = 1, count do
    local name, mode, request, values, in_flight = ARGV[at], '', '', 0, false
    -- Whether the next key belongs to that limit, too.
    local has_hash = byte(name, -1) == 49
    if width == 9 then
      mode, request, in_flight = ARGV[at + 6], ARGV[at + 7], ARGV[at] == 'concurrent'
      if in_flight then values = request == 'renew' and 2 or 1 end
      if mode == 'reserve' then values = 1 elseif mode == 'settle' then values = 3 end
      form[4] = form[4] or values > 0 and not in_flight
    end
    -- Few calls in flight need the functions.
    form[1][i] = {not in_flight and functions_of(name), number(ARGV[at + 1]), number(ARGV[at + 2]), number(ARGV[at + 3]), number(ARGV[at + 4]),
      width == 9 and (in_flight and number(ARGV[at + 5]) or ARGV[at + 5]) or '', mode, request, width == 9 and ARGV[at + 8] or '', values, in_flight, has_hash}
    form[2], form[3] = form[2] + (has_hash and 2 or 1), form[3] + values
    if i == 1 then form[5] = string.sub(mode, 1, 5) == 'back:' and 'back' or mode == 'settle' and 'back' or mode ~= 'reserve' and mode or '' end
    at = at + width
  end
  local one, two = form[1][1], form[1][2]
  if count == 1 and is_plain(one) then
    form[6] = 'take'
  elseif one[2] == 0 or one[3] == 0 then
  elseif count == 1 and form[4] then
    form[6] = 'hold'
    local base, most, ttl, life = one[1][11](one[9], 0)
    if base == '' then form[7], form[8], form[9] = most, ttl, life end
  elseif one[11] and one[8] == '' and (count == 1 and form[5] == 'back'
      or form[5] == '' and (count == 1 or count == 2 and is_plain(two) and not string.find(two[9], 'of=', 1, true))) then
    form[6] = 'flight'
  end
  return form, at
end

-- Looks at one limit, then at those after it, and charges it when all allow. limits: those of the form; i: which; denied: the nearest
-- limit before it that denies, 0 for none. is_only: there are no others. own: where the values are that distinguish the request.
-- Returns whether all allow.
local function decide(limits, i, mode, key, reply, base, denied, is_only, own)
  local one, name = limits[i], names[skip + key]
  local functions, n, limit, period, burst = one[1] or functions_of('concurrent'), one[2], one[3], one[4], one[5]
  local look, charge, write, settle = functions[1], functions[2], functions[3], functions[4]
  local id, request, options, values, stamp, actual = one[6], one[8], one[9], one[10], nil, nil
  if values > 0 then
    if one[11] then options = own else request = ARGV[own] end
    if mode == 'back' and not one[11] then stamp, actual = number(ARGV[own + 1], 16), number(ARGV[own + 2], 16) end
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

-- What most calls in flight are: one that begins, alone or with one rate, or that ends, of an instance that Redis knows. Returns nil
-- where that is not so: then decide does, which knows all cases.
local function flight(form, key, reply, size, own)
  local one, rate, name = form[1][1], form[1][2], names[skip + key]
  local n, free, by, raw, alive, told, at, held, ops = one[2], one[3], one[6], command('GET', name), now + one[4], ARGV[own]
  for i = 2, raw and #raw % 32 == 1 and #raw or 0, 32 do
    local holder, ends, some, changes = read('<dddd', raw, i)
    if holder == by then
      if ends <= alive - one[4] / 16 or ends > alive or changes < (number(told, 16) or number(string.match(told, '%x+'), 16)) then
        return nil
      end
      at, held, ops, free = i, some, changes, free - some
    elseif ends > now then
      free = free - some
    end
  end
  if form[5] ~= '' then
    n = -n
  elseif not raw and told == '1' then
    held, ops = 0, now
  end
  if not ops or n > free or held + n < 0 then return nil end
  reply[size + 1] = 1
  reply[size + 2] = free - n
  reply[size + 3] = 0
  reply[size + 4] = held + n
  reply[size + 5] = 0
  reply[size + 6] = ops + 1
  if rate then
    take(rate, names[skip + key + 1], 1, reply, size + 6)
    if reply[size + 7] == 0 then
      reply[size + 2], reply[size + 4], reply[size + 6] = free, held, raw and ops or 0
      return size + 12
    end
    size = size + 6
  end
  changed = true
  local text = pack('<dd', held + n, ops + 1)
  if not at then
    command('SET', name, pack('<Bdd', 5, by, alive) .. text, 'PX', math.ceil(one[4] / 1000) + (given and 60000 or 0))
  elseif redis.pcall('SETRANGE', name, at == 2 and '17' or at + 15, text) ~= #raw then
    -- A user who may not, as documented for earlier versions.
    command('SET', name, string.sub(raw, 1, at + 15) .. text .. string.sub(raw, at + 32), 'KEEPTTL')
  end
  return size + 6
end

-- A reservation or settlement of one limit. Its values begin at own. form: with what its options say.
local function hold(form, name, own, reply, size)
  local one, id, retry, stamp, actual = form[1][1], ARGV[own], 0, nil, nil
  if form[3] > 1 then stamp, actual = number(ARGV[own + 1], 16), number(ARGV[own + 2], 16) end
  changed = true
  local allows, used, remaining, next_us, reset
  if form[7] then
    allows, used, remaining, next_us, reset = one[1][10](one, name, now, id, stamp, actual, form[7], form[8], form[9])
  end
  if allows == nil then
    allows, remaining, retry, next_us, reset, used =
      one[1][7](one[1], stamp and 'back' or 'take', name, now, one[2], one[3], one[4], one[5], '', stamp, id, one[9], actual, used)
    if allows then retry = 0 end
  end
  if stamp then
    reply[size + 1] = used
    return size + 1
  end
  reply[size + 1] = allows and 1 or 0
  reply[size + 2] = remaining
  reply[size + 3] = retry
  reply[size + 4] = next_us
  reply[size + 5] = reset
  reply[size + 6] = used
  return size + 6
end

-- The forms by their numbers, as texts.
local forms = {}
for i = 1, form_count do forms[tostring(i)], at = parsed(at) end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
if form_count == 1 and skip == 0 and #KEYS == form[2] and at + form[3] == #ARGV + 1 then
  if form[6] ~= 'flight' or not flight(form, 1, reply, 0, at) then ask(form, 1, 1, reply, 0, at) end
  return reply
end
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form[2] * form[3]
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    if is_listed and not form[4] then times, at = number(ARGV[at]), at + 1 end
    local first, own = key, at
    key, at, changed = key + form[2], at + form[3], false
    reply[size + 1] = 0
    local way, after = form[6], nil
    if way == 'take' then
      after = take(form[1][1], names[skip + first], times, reply, size + 1)
    elseif way == 'hold' then
      after = hold(form, names[skip + first], own, reply, size + 1)
    else
      after = way and times == 1 and flight(form, first, reply, size + 1, own)
        or ask(form, first, form[4] and 1 or times, reply, size + 1, own)
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
