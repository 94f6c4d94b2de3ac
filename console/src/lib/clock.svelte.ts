/** Updates every 15 s, for text such as "5 minutes ago". */
class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => (this.now = Date.now()), 15_000);
  }
}

export const clock = new Clock();
