export type SubnetBlocks = { public: string; app: string; data: string };

/** The address blocks of each zone within a /16: a /20 each, spaced for up to four zones. */
export function subnetBlocks(cidr: string, zones: number): SubnetBlocks[] {
  const [first, second] = cidr.split(".");
  const block = (index: number) => `${first}.${second}.${index * 16}.0/20`;
  return Array.from({ length: zones }, (_, zone) => ({
    public: block(zone),
    app: block(4 + zone),
    data: block(8 + zone),
  }));
}
