import { Shipper } from "../../../gateway/usage/recording/shipper.ts";
import { UsageRecorder } from "../../../gateway/usage/recording/usage-recorder.ts";

/** Refuses new requests while the database is not writable. */
let isFailing = false;
const { ship } = Shipper.prototype;
Shipper.prototype.ship = async function (records) {
  const isShipped = await ship.call(this, records);
  isFailing = !isShipped;
  return isShipped;
};
Object.defineProperty(UsageRecorder.prototype, "isFull", { get: () => isFailing });
