/**
 * Obeys the commands of one kind, whose first words begin with its name in lower
 * case. The classes of the folder frameworks are such, and are there in peers
 * that have Spring and Dubbo. They get the peer's client.
 */
interface Registry {
    String obey(String[] words) throws Exception;

    /** Ends what the commands have left. */
    void close() throws Exception;
}
