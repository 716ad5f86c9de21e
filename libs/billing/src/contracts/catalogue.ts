/**
 * Prices and allowances, in US cents and credits. A constant: a change needs a release, and past grants keep their
 * terms. The release that changes them keeps the old ones in {@link TERMS_SOLD}.
 */
export interface Plan {
  readonly name: string;
  readonly creditsPerMonth: number;
  readonly priceCents: number;
  /** Requires a reference to an approval. */
  readonly approvalRequired: boolean;
}

export interface Pack {
  readonly name: string;
  readonly credits: number;
  readonly priceCents: number;
}

/** Of all prices; amounts are whole cents. */
export const CURRENCY = 'USD';

export const PLANS = {
  studio: { name: 'Studio', creditsPerMonth: 400, priceCents: 14_900, approvalRequired: false },
  pro: { name: 'Pro', creditsPerMonth: 2_000, priceCents: 39_900, approvalRequired: false },
  growth: { name: 'Growth', creditsPerMonth: 10_000, priceCents: 119_000, approvalRequired: false },
  access_local: { name: 'Access Local', creditsPerMonth: 100, priceCents: 4_900, approvalRequired: true },
} as const satisfies Record<string, Plan>;

export const PACKS = {
  flex: { name: 'Flex', credits: 50, priceCents: 2_900 },
  sprint: { name: 'Sprint', credits: 200, priceCents: 9_900 },
  campaign: { name: 'Campaign', credits: 500, priceCents: 19_900 },
  burst: { name: 'Burst', credits: 2_000, priceCents: 69_900 },
} as const satisfies Record<string, Pack>;

export type PlanId = keyof typeof PLANS;
export type PackId = keyof typeof PACKS;

export const PLAN_IDS = Object.keys(PLANS) as [PlanId, ...PlanId[]];
export const PACK_IDS = Object.keys(PACKS) as [PackId, ...PackId[]];

/** What a plan grants each month, or a pack once, and for how much. */
export interface Terms {
  readonly credits: number;
  readonly priceCents: number;
}

const termsOf = ({ credits, priceCents }: Terms): Terms => ({ credits, priceCents });

/** All terms on which each plan and pack was ever sold: books have them for ever. tools/verify-ledger.mjs has the same. */
export const TERMS_SOLD: ReadonlyMap<PlanId | PackId, readonly Terms[]> = new Map<
  PlanId | PackId,
  readonly Terms[]
>([
  ...PLAN_IDS.map((id) => [id, [termsOf({ ...PLANS[id], credits: PLANS[id].creditsPerMonth })]] as const),
  ...PACK_IDS.map((id) => [id, [termsOf(PACKS[id])]] as const),
]);

/** Credits for one Standard Theme reading. */
export const READING_COST = 20;

/** Credits by product. A product without a price cannot be sold. */
export const PRODUCT_PRICES: ReadonlyMap<string, number> = new Map([['theme', READING_COST]]);
