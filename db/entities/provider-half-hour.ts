import { bigInteger, id, integer, moment, type RowOf, table } from "./table.ts";

/**
 * The requests of a provider in half an hour (UTC), written in the transaction that inserts the records. The
 * roll-ups have no half-hours, because their rows per key and model would slow every insert.
 */
export const ProviderHalfHour = table(
  "provider_half_hours",
  {
    startsAt: moment({ primary: true }),
    /** The provider's name at the time of the requests. */
    provider: id({ length: 63 }),
    requests: integer(),
    /** The failures that the provider caused. */
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
