-- Counts a request for all its holders, or for none if it would exceed a limit. This is atomic, because the
-- server runs one script at a time.
-- KEYS: for each holder, the hash of its minute and the hash of its requests in flight by session.
-- ARGV: milliseconds since 1970 or an empty string, the session, the prefix of session keys, the tokens, the
-- part of them that is input, and for each holder the maximum requests per minute, tokens per minute and concurrent requests. 0 means no
-- limit.
-- Returns the second of the admission or 0, the index of the holder whose limit rejects the request or 0, the
-- reason (`reserved` if requests in flight may return enough tokens), the wait in milliseconds, and the requests and tokens in each holder's minute.

local now, session, sessions, tokens = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local input = tonumber(ARGV[5])
local minutes = {}
for index = 1, #KEYS, 2 do minutes[#minutes + 1] = KEYS[index] end
local second = currentSecond(now, minutes)

-- Requests of a process that has died no longer count.
local function underWay(key)
  local counts = redis.call('HGETALL', key)
  local sum = 0
  for index = 1, #counts, 2 do
    if redis.call('EXISTS', sessions .. counts[index]) == 1 then
      sum = sum + tonumber(counts[index + 1])
    else
      redis.call('HDEL', key, counts[index])
    end
  end
  return sum
end

local refusedBy, reason, waitMs = 0, '', 0
local used = {}
for place, minute in ipairs(minutes) do
  local requestsMax, tokensMax, concurrentMax = tonumber(ARGV[place * 3 + 3]), tonumber(ARGV[place * 3 + 4]), tonumber(ARGV[place * 3 + 5])
  advance(minute, second)
  local sums = redis.call('HMGET', minute, 'r', 't', 'f')
  local requestsUsed, tokensUsed, reserved = tonumber(sums[1] or 0), tonumber(sums[2] or 0), tonumber(sums[3] or 0)
  local function hasRoom(sum, more) return sum + more <= tokensMax and sum < tokensMax end
  used[#used + 1] = requestsUsed
  used[#used + 1] = tokensUsed
  if refusedBy == 0 then
    if concurrentMax > 0 and underWay(KEYS[place * 2]) >= concurrentMax then
      refusedBy, reason = place, 'concurrent'
    elseif requestsMax > 0 and requestsUsed >= requestsMax then
      refusedBy, reason = place, 'requests'
      waitMs = freeAt(minute, 'r', second, requestsUsed, requestsMax - 1) * 1000 - now
    elseif tokensMax > 0 and not hasRoom(tokensUsed, reserved > 0 and tokens or input) then
      refusedBy, reason = place, (reserved > 0 and hasRoom(tokensUsed - reserved, input)) and 'reserved' or 'tokens'
      waitMs = freeAt(minute, 't', second, tokensUsed, tokensMax - math.max(input, 1)) * 1000 - now
    end
  end
end
if refusedBy > 0 then return { 0, refusedBy, reason, waitMs, unpack(used) } end

for place, minute in ipairs(minutes) do
  add(minute, 'r', second, 1)
  add(minute, 't', second, tokens)
  add(minute, 'f', second, tokens)
  used[place * 2 - 1] = used[place * 2 - 1] + 1
  used[place * 2] = used[place * 2] + tokens
  redis.call('HINCRBY', KEYS[place * 2], session, 1)
  -- Without a TTL, the hash would stay forever if a process died and no request followed.
  redis.call('EXPIRE', KEYS[place * 2], 86400)
end
return { second, 0, '', 0, unpack(used) }
