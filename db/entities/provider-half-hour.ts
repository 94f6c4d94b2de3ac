import { bigInteger, id, integer, moment, type RowOf, table } from "./table.ts";

/**
 * Sums of a provider's requests in one half-hour (UTC). Half-hourly roll-ups would slow every insert, because
 * roll-ups have rows per key and model.
 */
export const ProviderHalfHour = table(
  "provider_half_hours",
  {
    startsAt: moment({ primary: true }),
    /** The provider's name, not its ID. */
    provider: id({ length: 63 }),
    requests: integer(),
    /** The failures that the provider caused: see `isProvidersFault`. */
    failures: integer(),
    successes: integer(),
    /** Milliseconds, summed over the successes. */
    latencyMs: bigInteger(),
    /** The number of successes per latency bucket: see `latencyBoundsMs`. */
    latency0: integer(),
    latency1: integer(),
    latency2: integer(),
    latency3: integer(),
    latency4: integer(),
    latency5: integer(),
    latency6: integer(),
    latency7: integer(),
    latency8: integer(),
    latency9: integer(),
  },
  [],
  { withoutRowid: true },
);

export type ProviderHalfHourRow = RowOf<typeof ProviderHalfHour>;
