/** Distances between related numbers, 0–8. */
export interface Bridges {
  /** |root(Life Path) − root(Expression)| */
  readonly lifePathExpression: number;
  /** |root(Soul Urge) − root(Personality)|; null if one of them is absent */
  readonly soulUrgePersonality: number | null;
}

interface Rooted {
  readonly root: number | null;
}

export const bridges = (
  lifePath: { readonly root: number },
  expression: { readonly root: number },
  soulUrge: Rooted,
  personality: Rooted,
): Bridges => ({
  lifePathExpression: Math.abs(lifePath.root - expression.root),
  soulUrgePersonality:
    soulUrge.root === null || personality.root === null ? null : Math.abs(soulUrge.root - personality.root),
});
