package lockstorm.adapter.redisson;

import lockstorm.adapter.UnsupportedException;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Calls of methods that not every version of Redisson has. */
final class Newer {
    private Newer() {}

    /**
     * Calls the method of this name that takes so many arguments.
     *
     * @throws UnsupportedException if this version has none
     */
    static Object call(Class<?> type, Object on, String name, Object... args)
            throws ReflectiveOperationException {
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && fits(method.getParameterTypes(), args)) {
                return called(method, on, args);
            }
        }
        throw new UnsupportedException(
                "this version of Redisson has no " + name + " of " + args.length + " arguments");
    }

    private static boolean fits(Class<?>[] types, Object[] args) {
        if (types.length != args.length) {
            return false;
        }
        for (int n = 0; n < args.length; n++) {
            if (!types[n].isPrimitive() && !types[n].isInstance(args[n])) {
                return false;
            }
        }
        return true;
    }

    private static Object called(Method method, Object on, Object[] args)
            throws ReflectiveOperationException {
        try {
            return method.invoke(on, args);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof RuntimeException) {
                throw (RuntimeException) error.getCause();
            }
            throw error;
        }
    }
}
