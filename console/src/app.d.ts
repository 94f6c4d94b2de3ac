declare global {
  namespace App {
    interface PageState {
      /** The slugs of the models that the user has just added, for the provider's page. */
      addedModels?: string[];
      /** Whether "back" returns to the previous page of the same list. */
      isStep?: boolean;
    }
  }
}

export {};
