declare global {
  namespace App {
    interface PageState {
      /** The slugs of just added models, for the provider's page. */
      addedModels?: string[];
      /** Whether "back" returns to the previous page of the same list. */
      isStep?: boolean;
    }
  }
}

export {};
