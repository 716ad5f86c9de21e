/** Nothing deletes a book. Without its row, the movement of an event would be lost in silence: this parks the book. */
export class RowMissing extends Error {
  override readonly name = 'RowMissing';
  constructor() {
    super('The row of the book is missing: replay its stream');
  }
}
